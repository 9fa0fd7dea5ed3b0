//! Speedrun: the record of the time to a network's target for each class of devices, and the open class.

use leptos::prelude::*;
use results::api::{
    DeviceForm, OpenEntry, OpenQuery, OpenTable, Speedrun, SpeedrunClass, SpeedrunQuery, SpeedrunRecord,
};
use results::bits_per_character;

use super::device::suite_of;
use super::parts::{LINK, explain, linked, listed, load_latest, network_choice, table};
use super::places::{chip, client};
use super::runs::{device_names, run_link};
use crate::documents::document;
use crate::filters::networks;
use crate::own_runs::OwnRuns;
use crate::route::{LEADERBOARD, with_query};
use crate::{platform, t, text};

pub(super) fn speedrun_page() -> impl IntoView {
    platform::set_title(t!(speedrun_title));
    let workload = |name: &str| engine::workload(name).filter(|of| of.proof_obstacle().is_none());
    let mut provable: Vec<_> = networks().filter(|name| suite_of(name).is_some() && workload(name).is_some()).collect();
    // Language models come first.
    provable.sort_by_key(|name| !text::aims_at_loss(name));
    let (chosen, choice) = network_choice(provable.clone(), provable[0]);
    let loaded = load_latest::<Speedrun>(move || {
        with_query("/api/v1/speedrun", &SpeedrunQuery { workload: Some(chosen.get().to_owned()) })
    });
    let open_text = Memo::new(move |_| {
        let workload = engine::workload(chosen.get()).filter(|of| text::aims_at_loss(of.name));
        workload.map(|of| of.data_set)
    });
    view! {
        <section class="sheet" aria-labelledby="speedrun-title">
            <h1 id="speedrun-title">{t!(speedrun_title)}</h1>
            <p class="lead small">{t!(speedrun_lead)}</p>
            {choice}
            {listed(loaded, |found| records(found).into_any())}
            <p class="note">{t!(speedrun_classes)}</p>
            <p><a href=LEADERBOARD>{t!(leaderboard_see)}</a></p>
        </section>
        {move || open_text.get().map(open_class)}
    }
}

fn records(found: Speedrun) -> impl IntoView {
    let Speedrun { suite, goal, classes, .. } = found;
    let title = text::suite_inside(&suite.name);
    let own = platform::own_runs();
    let shown = if classes.is_empty() {
        view! { <p class="callout">{t!(speedrun_none)}</p> }.into_any()
    } else {
        let heads = view! {
            <th scope="col">{t!(leaderboard_device)}</th>
            <th scope="col" class="number">{t!(metric_seconds_to_target)}</th>
            <th scope="col">{t!(leaderboard_day)}</th>
            <th scope="col">{t!(speedrun_kernels)}</th>
            <th scope="col">{t!(common_program)}</th>
        };
        let bodies = classes.into_iter().map(|class| class_rows(class, &own)).collect_view();
        table("leaderboard medium", t!(speedrun_title), heads, bodies).into_any()
    };
    view! {
        <p class="note">{t!(speedrun_rules, goal = text::goal(goal), suite = title)}</p>
        {shown}
        <p><a class="button main" href=format!("/?suite={}", suite.name)>{t!(speedrun_run, suite = title)}</a></p>
    }
}

fn class_rows(class: SpeedrunClass, own: &OwnRuns) -> impl IntoView + use<> {
    let SpeedrunClass { form, client_kind, records } = class;
    let title = match form {
        DeviceForm::Phone => t!(speedrun_phone),
        DeviceForm::Laptop => t!(speedrun_laptop),
        DeviceForm::Desktop => t!(speedrun_desktop),
        DeviceForm::Server => t!(speedrun_server),
    };
    let rows = records.into_iter().enumerate().map(|(place, record)| {
        let is_own = own.has_run(&record.run.run_id);
        record_row(record, place == 0, is_own)
    });
    view! {
        <tbody data-form=form.name() data-client=client_kind.name()>
            <tr class="group"><th scope="rowgroup" colspan="5">{title}" "{client(client_kind)}</th></tr>
            {rows.collect_view()}
        </tbody>
    }
}

fn record_row(record: SpeedrunRecord, is_best: bool, is_own: bool) -> impl IntoView {
    let SpeedrunRecord { engine_version, run } = record;
    let (device, reported) = device_names(&run);
    let best = is_best.then(|| chip((t!(speedrun_record), t!(speedrun_record_meaning))));
    view! {
        <tr class:own=is_own data-run=run.run_id.clone()>
            <th scope="row">{run_link(&run.run_id, device, is_own)}" "{best}{explain(reported)}</th>
            <td class="number">{run.summary.seconds_to_target.map(text::seconds)}</td>
            <td class="day">{text::day(run.submitted_unix_seconds)}</td>
            <td>
                {format!("{}, {}", run.backend, run.precision.name())}
                {explain(Some(format!("Gradmark {engine_version}")))}
            </td>
            <td class="program">{run.client}{explain(Some(run.operating_system))}</td>
        </tr>
    }
}

/// Rules and ranking of networks of one's own on a text.
fn open_class(data_set: &'static str) -> impl IntoView {
    let query = OpenQuery { data_set: data_set.to_owned() };
    let loaded = load_latest::<OpenTable>(move || with_query("/api/v1/open", &query));
    let command = format!("native-runner --workload-file my_network.toml --upload {}", platform::origin());
    let document = document("workloads").map(|of| {
        let sentence = t!(speedrun_open_document, document = LINK);
        view! { <p>{linked(&sentence, &of.path(), of.title.text())}</p> }
    });
    view! {
        <section class="sheet" aria-labelledby="open-title">
            <h2 id="open-title">{t!(speedrun_open)}</h2>
            <p class="lead small">{t!(speedrun_open_lead)}</p>
            <p>{t!(speedrun_open_changes)}</p>
            {document}
            <p>{t!(speedrun_open_how)}</p>
            <pre class="command" tabindex="0" role="region" aria-label=t!(speedrun_open_how)><code>{command}</code></pre>
            {listed(loaded, |found| open_table(found).into_any())}
        </section>
    }
}

fn open_table(found: OpenTable) -> impl IntoView {
    if found.entries.is_empty() {
        return view! { <p class="callout">{t!(speedrun_open_none)}</p> }.into_any();
    }
    let heads = view! {
        <th scope="col" class="number" title=t!(leaderboard_place)>"#"</th>
        <th scope="col">{t!(common_network)}</th>
        <th scope="col" class="number">{t!(metric_test_loss)}</th>
        <th scope="col" class="number">{t!(speedrun_training_time)}</th>
        <th scope="col">{t!(leaderboard_device)}</th>
        <th scope="col">{t!(leaderboard_day)}</th>
    };
    let own = platform::own_runs();
    let rows = (1..).zip(found.entries).map(|(place, entry)| open_row(place, entry, &own)).collect_view();
    table("leaderboard medium", t!(speedrun_open_ranking), heads, view! { <tbody>{rows}</tbody> }).into_any()
}

fn open_row(place: u32, entry: OpenEntry, own: &OwnRuns) -> impl IntoView + use<> {
    let is_own = own.has_run(&entry.run_id);
    let bits = t!(speedrun_bits, bits = text::number(bits_per_character(entry.loss), 3));
    let software = format!("{}, {}", entry.backend, entry.client);
    view! {
        <tr class:own=is_own data-run=entry.run_id.clone()>
            <td class="number">{text::count(place)}</td>
            <th scope="row">
                {run_link(&entry.run_id, entry.title, is_own)}
                {explain(Some(t!(speedrun_parameters, number = entry.parameters)))}
            </th>
            <td class="number">{text::number(entry.loss, 4)}{explain(Some(bits))}</td>
            <td class="number">{text::seconds(entry.training_seconds)}</td>
            <td>{text::named_device(&entry.device)}{explain(Some(software))}</td>
            <td class="day">{text::day(entry.submitted_unix_seconds)}</td>
        </tr>
    }
}
