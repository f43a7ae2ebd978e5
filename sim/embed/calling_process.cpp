// SPDX-License-Identifier: Apache-2.0
#include "sim/embed/calling_process.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <systemc>

namespace npuscope {
namespace {

/// What a thread asks to be run.
struct Errand {
    const std::function<void()>& work;
    bool is_done = false;
};

/// The errands of a kernel's threads, and the method that runs them, which owns this. It is created
/// once: the kernel frees ended processes only after the evaluation phase.
class Errands {
 public:
    /// Those of the present kernel.
    static std::shared_ptr<Errands> of_kernel() {
        thread_local std::map<const sc_core::sc_simcontext*, std::weak_ptr<Errands>> all;
        std::weak_ptr<Errands>& known = all[sc_core::sc_curr_simcontext];
        std::shared_ptr<Errands> errands = known.lock();
        if (!errands || !errands->has_method()) {
            errands = std::make_shared<Errands>();
            spawn_method(errands);
            known = errands;
        }
        return errands;
    }

    void run(Errand& errand) {
        const Place place(*this, errand);
        asked_.notify();
        while (!errand.is_done) {
            sc_core::wait(served_);
        }
    }

 private:
    /// In the queue, until it is done or its thread is killed.
    class Place {
     public:
        Place(Errands& errands, Errand& errand) : errands_(errands), errand_(errand) {
            errands_.waiting_.push_back(&errand_);
        }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() { std::erase(errands_.waiting_, &errand_); }

     private:
        Errands& errands_;
        Errand& errand_;
    };

    static void spawn_method(const std::shared_ptr<Errands>& errands) {
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(&errands->asked_);
        options.dont_initialize();
        errands->method_ =
            sc_core::sc_spawn([errands] { errands->serve(); },
                              sc_core::sc_gen_unique_name("npuscope_calls"), &options)
                .name();
    }
    /// It is a child of the first thread that called, and may be killed with it.
    bool has_method() const {
        const sc_core::sc_process_handle method(sc_core::sc_find_object(method_.c_str()));
        return method.valid() && !method.terminated();
    }
    void serve() {
        while (!waiting_.empty()) {
            Errand& errand = *waiting_.front();
            waiting_.pop_front();
            errand.work();
            errand.is_done = true;
        }
        served_.notify();
    }

    std::deque<Errand*> waiting_;
    std::string method_;  ///< its name: a handle would keep it from being freed
    sc_core::sc_event asked_;
    sc_core::sc_event served_;
};

}  // namespace

CallingProcess calling_process() {
    if (sc_core::sc_curr_simcontext == nullptr) {
        return CallingProcess::None;
    }
    const auto* process = sc_core::sc_curr_simcontext->get_curr_proc_info();
    switch (process->kind) {
        case sc_core::SC_THREAD_PROC_:
            return sc_core::sc_process_handle(process->process_handle).is_unwinding()
                       ? CallingProcess::KilledThread
                       : CallingProcess::Thread;
        case sc_core::SC_CTHREAD_PROC_:
            return CallingProcess::ClockedThread;
        default:
            return CallingProcess::None;
    }
}

void run_in_method(const std::function<void()>& work) {
    Errand errand{work};
    Errands::of_kernel()->run(errand);
}

}  // namespace npuscope
