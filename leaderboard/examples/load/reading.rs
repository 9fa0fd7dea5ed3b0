//! Every list, filter, table, distribution and page, asked for by several at once.

use engine::SUITES;
use results::api::RunList;

use crate::Arguments;
use crate::board::{Random, Runs};
use crate::measure::{Report, together};
use crate::server::Server;

/// What every list, filter and distribution may take, and a page made of several; in milliseconds.
const LIST: f64 = 50.0;
const PAGE: f64 = 100.0;

/// In which a hundredth of all runs were handed in.
const FORTNIGHT: &str = "since=2026-03-01&until=2026-03-14";

/// Each filter alone, common and rare.
const FILTERS: [(&str, &str); 14] = [
    ("a back end", "&backend=burn-wgpu"),
    ("a back end that few have", "&backend=burn-cuda"),
    ("f16", "&precision=f16"),
    ("a suite", "&suite=complete"),
    ("a vendor", "&vendor=NVIDIA"),
    ("a vendor of few devices", "&vendor=Imagination"),
    ("a browser", "&browser=Firefox"),
    ("a browser that few have", "&browser=Opera"),
    ("a system", "&system=macOS"),
    ("browsers", "&client=browser"),
    ("a tier", "&tier=checked"),
    ("a tier that few have", "&tier=flagged"),
    ("ranked", "&ranked=true"),
    ("a fortnight", "&since=2026-03-01&until=2026-03-14"),
];

const PAIRS: [(&str, &str); 10] = [
    ("a back end and a vendor", "&backend=burn-wgpu&vendor=AMD"),
    ("a browser and a system", "&browser=Safari&system=macOS"),
    ("a tier and f16", "&tier=flagged&precision=f16"),
    ("a suite and a vendor", "&suite=complete&vendor=Intel"),
    ("a browser and a fortnight", "&browser=Firefox&since=2026-03-01&until=2026-03-14"),
    ("programs and a tier", "&client=native&tier=unverified"),
    ("a rare browser and a rare back end", "&browser=Opera&backend=burn-cuda"),
    ("a rare browser and a fortnight", "&browser=Opera&since=2026-03-01&until=2026-03-14"),
    ("a system, most accurate", "&system=macOS&sort=accuracy"),
    ("a vendor, soonest accurate", "&vendor=AMD&sort=time_to_accuracy"),
];

/// Pages that are gone through before one far down is asked for.
const PAGES: usize = 100;

/// The cursors of these pages.
fn cursors(server: &Server) -> Vec<String> {
    let client = server.client();
    let path = format!("/api/v1/runs?workload={}&limit=100", SUITES[0].workloads[0]);
    let mut cursors: Vec<String> = Vec::new();
    for _ in 0..PAGES {
        let from = cursors.last().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page: RunList = serde_json::from_slice(&client.read(&format!("{path}{from}"))).expect("JSON");
        let Some(next) = page.next else { break };
        cursors.push(next);
    }
    cursors
}

pub(crate) fn measure(server: &Server, runs: &Runs, arguments: &Arguments, report: &mut Report) {
    let client = server.client();
    let cursors = cursors(server);
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
    for (name, rest) in FILTERS {
        ask(&format!("fastest, {name}"), LIST, &list(rest));
        ask(&format!("newest, {name}"), LIST, &|_| format!("/api/v1/runs?{}", &rest[1..]));
    }
    for (name, rest) in PAIRS {
        ask(&format!("fastest, {name}"), LIST, &list(rest));
    }
    let device = |rest: &'static str| {
        move |random: &mut Random| {
            format!("/api/v1/runs?workload={}&device={}{rest}", workload(random), runs.devices[0])
        }
    };
    ask("newest of the device that most people have", LIST, &|_| format!("/api/v1/runs?device={}", runs.devices[0]));
    ask("fastest of it", LIST, &device(""));
    ask("most accurate of it", LIST, &device("&sort=accuracy"));
    ask("fastest of it, a browser that few have", LIST, &device("&browser=Opera"));
    ask("newest of any device", LIST, &|random| format!("/api/v1/runs?device={}", one_of(&runs.devices, random)));
    // Filters that leave more than are read at once, and meet so rarely that the bound ends the page.
    ask("the worst: f16 in a fortnight, fastest", LIST, &|_| {
        format!("/api/v1/runs?workload={}&precision=f16&{FORTNIGHT}", SUITES[0].workloads[0])
    });
    ask("the worst: f16 in a fortnight, most accurate", LIST, &|_| {
        format!("/api/v1/runs?workload={}&precision=f16&sort=accuracy&{FORTNIGHT}", SUITES[0].workloads[0])
    });
    ask("the worst with 10,000 left out", LIST, &|_| {
        format!("/api/v1/runs?workload={}&precision=f16&{FORTNIGHT}&offset=10000", SUITES[0].workloads[0])
    });
    ask("a page far down by cursor", LIST, &|random| {
        let pages = &cursors[..];
        format!("/api/v1/runs?workload={}&limit=100&cursor={}", SUITES[0].workloads[0], one_of(pages, random))
    });
    ask("two runs compared", PAGE, &|random| {
        let (a, b) = (random.below(runs.quick.len()), random.below(runs.complete.len()));
        format!("/api/v1/compare?runs={},{}", runs.quick[a], runs.complete[b])
    });
    ask("two devices compared", PAGE, &|_| format!("/api/v1/compare?devices={},{}", runs.devices[0], runs.devices[1]));
    ask("history of the device that most people have", PAGE, &|_| {
        format!("/api/v1/devices/{}/history", runs.devices[0])
    });
    ask("history of a device", PAGE, &|random| format!("/api/v1/devices/{}/history", one_of(&runs.devices, random)));
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
