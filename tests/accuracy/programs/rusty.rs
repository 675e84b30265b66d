// SPDX-License-Identifier: Apache-2.0
//! What Rust adds to stacks: generics, trait objects, closures, panics that unwind, async by hand.
//! Prints its own truth like the C programs (truth.h).
use std::arch::asm;
use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

macro_rules! spin {
    ($n:expr) => {
        unsafe { asm!("2: dec {0}", "jnz 2b", inout(reg) $n as u64 => _) }
    };
}

macro_rules! not_tail {
    () => {
        unsafe { asm!("") }
    };
}

thread_local!(static TRUTH: RefCell<Vec<(&'static str, f64)>> = const { RefCell::new(Vec::new()) });

#[repr(C)]
struct Timespec(i64, i64);

extern "C" {
    fn clock_gettime(clock: i32, ts: *mut Timespec) -> i32;
}

#[inline(never)]
fn truth_clock() -> f64 {
    let mut ts = Timespec(0, 0);
    unsafe { clock_gettime(3, &mut ts) };
    ts.0 as f64 + ts.1 as f64 / 1e9
}

#[inline(never)]
fn truth_add(legal: &'static str, seconds: f64) {
    TRUTH.with(|cell| {
        let mut rows = cell.borrow_mut();
        match rows.iter_mut().find(|row| row.0 == legal) {
            Some(row) => row.1 += seconds,
            None => rows.push((legal, seconds)),
        }
    });
}

macro_rules! timed {
    ($legal:expr, $call:expr) => {
        let from = truth_clock();
        $call;
        truth_add($legal, truth_clock() - from);
    };
}

trait Shape {
    fn area(&self) -> u64;
}

struct Circle;
struct Square;

impl Shape for Circle {
    #[inline(never)]
    fn area(&self) -> u64 {
        spin!(2000000);
        1
    }
}

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        spin!(2100000);
        2
    }
}

#[inline(never)]
fn calls_dyn(shape: &dyn Shape) -> u64 {
    let r = shape.area();
    not_tail!();
    r
}

#[inline(never)]
fn generic<T: Default>(n: u64) -> T {
    spin!(2200000 + n);
    T::default()
}

#[inline(never)]
fn calls_generic(n: u64) -> u64 {
    let r = generic::<u64>(n);
    not_tail!();
    r
}

#[inline(never)]
fn apply(f: &dyn Fn(u64) -> u64) -> u64 {
    let r = f(3);
    not_tail!();
    r
}

#[inline(never)]
fn closure_leaf(n: u64) -> u64 {
    spin!(2300000 + n);
    n
}

#[inline(never)]
fn calls_closure(n: u64) -> u64 {
    let r = apply(&|x| {
        let r = closure_leaf(x + n);
        not_tail!();
        r
    });
    not_tail!();
    r
}

#[inline(always)]
fn inlined(n: u64) -> u64 {
    spin!(2400000 + n);
    n
}

#[inline(never)]
fn holds_inlined(n: u64) -> u64 {
    let r = inlined(n);
    not_tail!();
    r
}

#[inline(never)]
fn async_leaf(n: u64) -> u64 {
    spin!(2500000 + n);
    n
}

async fn stage_two(n: u64) -> u64 {
    let r = async_leaf(n);
    not_tail!();
    r
}

async fn stage_one(n: u64) -> u64 {
    let r = stage_two(n).await;
    not_tail!();
    r
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[inline(never)]
fn block_on(n: u64) -> u64 {
    let waker = Waker::from(Arc::new(Nobody));
    let mut context = Context::from_waker(&waker);
    let mut future = Box::pin(stage_one(n));
    loop {
        if let Poll::Ready(r) = future.as_mut().poll(&mut context) {
            return r;
        }
    }
}

#[cfg(panic = "unwind")]
mod unwinding {
    use super::*;

    struct Guard;

    impl Drop for Guard {
        #[inline(never)]
        fn drop(&mut self) {
            spin!(1500000);
        }
    }

    #[inline(never)]
    fn panics(n: u64) {
        spin!(700000 + n);
        std::panic::resume_unwind(Box::new(n));
    }

    #[inline(never)]
    fn guarded(n: u64) {
        let _guard = Guard;
        panics(n);
        not_tail!();
    }

    #[inline(never)]
    pub fn catches(n: u64) {
        let _ = std::panic::catch_unwind(|| guarded(n));
        not_tail!();
    }
}

#[cfg(panic = "unwind")]
#[inline(never)]
fn run_panics() {
    timed!(
        "main;{std}rusty::main;rusty::run;rusty::run_panics;rusty::unwinding::catches(;{panic})?\
         (;`rusty::unwinding::catches::{closure#0}`)?(;{panic})?\
         (;rusty::unwinding::guarded(;rusty::unwinding::panics)?(;{panic})?)?",
        unwinding::catches(1)
    );
}

#[cfg(not(panic = "unwind"))]
fn run_panics() {}

#[inline(never)]
fn run(seconds: f64) {
    let end = truth_clock() + seconds;
    while truth_clock() < end {
        timed!(
            "main;{std}rusty::main;rusty::run;rusty::calls_dyn;`<rusty::Circle as rusty::Shape>::area`",
            calls_dyn(&Circle)
        );
        timed!(
            "main;{std}rusty::main;rusty::run;rusty::calls_dyn;`<rusty::Square as rusty::Shape>::area`",
            calls_dyn(&Square)
        );
        timed!(
            "main;{std}rusty::main;rusty::run;rusty::calls_generic;(`rusty::generic::<u64>`|rusty::generic)",
            calls_generic(1)
        );
        timed!(
            "main;{std}rusty::main;rusty::run;rusty::calls_closure;rusty::apply;\
             `rusty::calls_closure::{closure#0}`;rusty::closure_leaf",
            calls_closure(1)
        );
        timed!(
            "main;{std}rusty::main;rusty::run;rusty::holds_inlined;rusty::inlined",
            holds_inlined(1)
        );
        timed!(
            "main;{std}rusty::main;rusty::run;rusty::block_on(;{std}(;{libc})?)?(;`rusty::stage_one::{closure#0}`;{std}?\
             `rusty::stage_two::{closure#0}`;rusty::async_leaf)?",
            block_on(1)
        );
        run_panics();
    }
}

fn main() {
    run(std::env::args().nth(1).map_or(1.0, |a| a.parse().unwrap_or(1.0)));
    TRUTH.with(|rows| {
        println!("legal 0 main;{{std}}rusty::main(;rusty::run(;{{libc}})?)?");
        for (legal, seconds) in rows.borrow().iter() {
            println!("legal {seconds:.6} {legal}");
        }
    });
}
