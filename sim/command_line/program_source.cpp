// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/program_source.h"

#include "models/base/error.h"

namespace npuscope {

Program read_any_program(const std::string& path, const SystemConfig& system, Images images) {
    const FamilyRegisters registers = system.family->registers(system.npu);
    Program program = read_program(
        path,
        RegisterNames(registers.programs ? registers.blocks : std::span<const RegisterBlock>{}),
        images);
    for (Statement& statement : program.statements) {
        auto* launch = std::get_if<LaunchJob>(&statement.action);
        if (launch == nullptr) {
            continue;
        }
        const auto& written = dynamic_cast<const WrittenJob&>(*launch->job);
        try {
            const auto job = system.family->read_job(written.descriptor);
            job->name = written.name;
            job->kind = written.kind;
            launch->job = job;
        } catch (const ConfigError& error) {
            throw ConfigError(statement.place, error.sentence(), error.remedy());
        }
    }
    return program;
}

}  // namespace npuscope
