//! The page of one device: who says what it is, what it does, and what came of it last.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{BrowserTaxOfDevice, DeviceSource, DeviceSummary};

use super::compare_with::CompareWith;
use super::device_figures::DeviceFigures;
use super::history::History;
use super::place_tables::chip;
use super::run_table::{First, RunTable};
use super::side_by_side::Compared;
use crate::filters::runs::DEVICE;
use crate::platform::{self, Refusal};
use crate::{standing, text};

#[component]
pub(super) fn DevicePage(key: String) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<DeviceSummary, Refusal>>);
    let asked = key.clone();
    spawn_local(async move {
        let answer = platform::device(&asked).await;
        if let Ok(device) = &answer {
            platform::set_title(&device.device_name);
        }
        loaded.set(Some(answer));
    });
    move || match loaded.get() {
        None => view! { <p class="note">"Loading …"</p> }.into_any(),
        Some(Err(refusal)) => view! { <NoDevice refusal /> }.into_any(),
        Some(Ok(device)) => view! { <Device device key=key.clone() /> }.into_any(),
    }
}

#[component]
fn NoDevice(refusal: Refusal) -> impl IntoView {
    let (title, why) = if refusal.is("unknown_device") {
        ("No such device", "The address may be mistyped, or all results of this device were deleted.".to_owned())
    } else {
        ("This device cannot be shown", format!("{refusal}"))
    };
    view! {
        <section class="sheet narrow">
            <h1>{title}</h1>
            <p>{why}</p>
            <p><a class="button quiet" href="/#leaderboard">"All devices"</a></p>
        </section>
    }
}

#[component]
fn Device(
    device: DeviceSummary,
    /// As it is written in an address.
    key: String,
) -> impl IntoView {
    let DeviceSummary {
        merged_keys, device_name, device_source, vendor, inferred, figures, browser_taxes, recent, ..
    } = device;
    let merged = (!merged_keys.is_empty()).then(|| {
        view! {
            <p>
                {format!("Moderators count these as the same device: {}. ", merged_keys.join(", "))}
                "Why is in the "<a href="/moderation">"moderation log"</a>"."
            </p>
        }
    });
    let maker = vendor.filter(|vendor| !device_name.contains(vendor.as_str()));
    let said = match maker {
        Some(maker) => format!("A device of {maker}. {}", standing::source(device_source)),
        None => standing::source(device_source).to_owned(),
    };
    let word = match device_source {
        DeviceSource::Reported => ("reported", "Its platform says so"),
        DeviceSource::Claimed => ("claimed", "Its owner says so; the browser hides the name"),
        DeviceSource::Masked => ("masked", "The browser hides the name"),
    };
    let guess = inferred.map(|guess| {
        view! { <p>{format!("By its measured peak it may be {guess}. That is a guess, which decides nothing.")}</p> }
    });
    view! {
        <section class="sheet" id="device">
            <h1>{device_name}</h1>
            <p class="lead small">{chip(word)}" "{said}</p>
            {guess}
            {merged}
            <DeviceFigures figures />
            <BrowserTaxes taxes=browser_taxes />
            <History key=key.clone() />
            <h3>"Latest results"</h3>
            <p class="note">"Of whatever tier, newest first. Only proven ones count in the figures above."</p>
            <RunTable rows=recent first=First::Network label="Latest results" own=None />
            <CompareWith own=key.clone() kind=Compared::Devices network=None />
            <div class="row">
                <a class="button quiet" href=format!("/?leaderboard=runs&{DEVICE}={key}#leaderboard")>
                    "All runs of this device"
                </a>
                <a class="button quiet" href="/#leaderboard">"All devices"</a>
            </div>
        </section>
    }
}

/// What a browser costs, wherever both kinds of client have a figure of the same kernels.
#[component]
fn BrowserTaxes(taxes: Vec<BrowserTaxOfDevice>) -> impl IntoView {
    let lines = taxes.iter().map(|tax| {
        let category = format!(
            "{}, version {}; {} in {}",
            text::capitalised(&tax.suite.name),
            tax.suite.version,
            tax.backend,
            tax.precision.name()
        );
        view! {
            <li>
                {format!("{}: {}.", text::workload_title(&tax.workload), standing::browser_tax(tax))}
                <span class="explain">{format!("{category}; {}", standing::tax_submitters(tax))}</span>
            </li>
        }
    });
    let lines = lines.collect_view();
    (!taxes.is_empty()).then(|| view! {
        <h3>"What a browser costs"</h3>
        <p class="note">
            "The same kernels from the command line and in browsers. With few submitters behind a side, the difference is one \
             of machines."
        </p>
        <ul class="plain" data-part="browser-taxes">{lines}</ul>
    })
}
