//! Every list, filter, table, distribution and page, asked for by several at once.

use engine::SUITES;

use crate::Arguments;
use crate::board::{Random, Runs};
use crate::measure::{Report, together};
use crate::server::Server;

/// What every list, filter and distribution may take, and a page made of several; in milliseconds.
const LIST: f64 = 50.0;
const PAGE: f64 = 100.0;

pub(crate) fn measure(server: &Server, runs: &Runs, arguments: &Arguments, report: &mut Report) {
    let client = server.client();
    let mut ask = |name: &str, wanted: f64, path: &(dyn Fn(&mut Random) -> String + Sync)| {
        let request = |i: u32| client.get(&path(&mut Random(u64::from(i))));
        // What is asked for the first time comes from the disk; a board is not asked once.
        together(arguments.clients, arguments.requests / 10, request);
        report.add_durations(name, together(arguments.clients, arguments.requests, request), wanted);
    };
    let workload = |random: &mut Random| one_of(SUITES[1].workloads, random).to_string();
    let list =
        |rest: &'static str| move |random: &mut Random| format!("/api/v1/runs?workload={}{rest}", workload(random));
    ask("newest results", LIST, &|_| "/api/v1/runs".to_owned());
    ask("newest ranked results", LIST, &|_| "/api/v1/runs?ranked=true".to_owned());
    ask("fastest of a network", LIST, &list(""));
    ask("fastest of a network, 500", LIST, &list("&limit=500"));
    ask("fastest of a network, far down", LIST, &list("&offset=10000"));
    ask("fastest of a back end", LIST, &list("&backend=burn-wgpu"));
    ask("fastest in f16", LIST, &list("&precision=f16"));
    ask("fastest of a back end in f16", LIST, &list("&backend=burn-wgpu&precision=f16"));
    ask("fastest of a back end that nobody has", LIST, &list("&backend=burn-cuda"));
    ask("ranking of a network", LIST, &list("&ranked=true"));
    ask("ranking of a back end in f16", LIST, &list("&ranked=true&backend=wgsl&precision=f16"));
    let standings = |rest: &'static str| move |_: &mut Random| format!("/api/v1/standings?suite={rest}");
    ask("places, quick suite (the start page)", LIST, &standings("quick"));
    ask("places, complete suite", LIST, &standings("complete"));
    ask("places, quick suite, browsers", LIST, &standings("quick&client=browser"));
    ask("places, quick suite, f16 of a back end", LIST, &standings("quick&precision=f16&backend=burn-wgpu"));
    ask("places, quick suite, 500 lines", LIST, &standings("quick&limit=500"));
    ask("distribution of a network, quick suite", LIST, &|random| {
        format!("/api/v1/distribution?suite=quick&workload={}", one_of(SUITES[0].workloads, random))
    });
    ask("distribution of a network, complete suite", LIST, &|random| {
        format!("/api/v1/distribution?suite=complete&workload={}", workload(random))
    });
    ask("a run", LIST, &|random| format!("/api/v1/runs/{}", one_of(&runs.quick, random)));
    ask("where a quick run stands", PAGE, &|random| format!("/api/v1/runs/{}/standing", one_of(&runs.quick, random)));
    ask("where a complete run stands", PAGE, &|random| {
        format!("/api/v1/runs/{}/standing", one_of(&runs.complete, random))
    });
    ask("the device that most people have", PAGE, &|_| format!("/api/v1/devices/{}", runs.devices[0]));
    ask("a device", PAGE, &|random| format!("/api/v1/devices/{}", one_of(&runs.devices, random)));
}

fn one_of<'a, T>(list: &'a [T], random: &mut Random) -> &'a T {
    &list[random.below(list.len())]
}
