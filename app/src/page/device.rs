//! The page of one device: who says what it is, what it does, and what came of it last.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{BrowserTaxOfDevice, DeviceSource, DeviceSummary};

use super::compare_with::CompareWith;
use super::device_figures::DeviceFigures;
use super::history::History;
use super::language::kept;
use super::linked::{LINKS, linked};
use super::place_tables::chip;
use super::run_table::{First, RunTable};
use super::side_by_side::Compared;
use crate::filters::runs::DEVICE;
use crate::platform::{self, Refusal};
use crate::words::network;
use crate::{standing, t, text};

#[component]
pub(super) fn DevicePage(key: String) -> impl IntoView {
    let asked = key.clone();
    let loaded = kept("device", || {
        let loaded = RwSignal::new(None::<Result<DeviceSummary, Refusal>>);
        spawn_local(async move {
            let answer = platform::device(&asked).await;
            if let Ok(device) = &answer {
                platform::set_title(&text::named_device(&device.device_name));
            }
            loaded.set(Some(answer));
        });
        loaded
    });
    move || match loaded.get() {
        None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
        Some(Err(refusal)) => view! { <NoDevice refusal /> }.into_any(),
        Some(Ok(device)) => view! { <Device device key=key.clone() /> }.into_any(),
    }
}

#[component]
fn NoDevice(refusal: Refusal) -> impl IntoView {
    let (title, why) = if refusal.is("unknown_device") {
        (t!(device_none), t!(device_none_why).to_owned())
    } else {
        (t!(device_not_shown), refusal.to_string())
    };
    view! {
        <section class="sheet narrow">
            <h1>{title}</h1>
            <p>{why}</p>
            <p><a class="button quiet" href="/#leaderboard">{t!(common_all_devices)}</a></p>
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
                {linked(
                    &t!(device_merged, keys = merged_keys.join(", "), log = LINKS[0]),
                    [("/moderation".to_owned(), t!(tier_log_link).to_owned())],
                )}
            </p>
        }
    });
    let device_name = text::named_device(&device_name);
    let maker = vendor.filter(|vendor| !device_name.contains(vendor.as_str()));
    let said = match maker {
        Some(maker) => t!(device_maker, vendor = maker, source = standing::source(device_source)),
        None => standing::source(device_source).to_owned(),
    };
    let word = match device_source {
        DeviceSource::Reported => (t!(leaderboard_reported), t!(leaderboard_reported_meaning)),
        DeviceSource::Claimed => (t!(leaderboard_claimed), t!(leaderboard_claimed_meaning)),
        DeviceSource::Masked => (t!(leaderboard_masked), t!(leaderboard_masked_meaning)),
    };
    let guess = inferred.map(|guess| {
        view! { <p>{t!(device_guess, guess = guess)}</p> }
    });
    view! {
        <section class="sheet" id="device">
            <h1>{device_name}</h1>
            <p class="lead small">{chip(word)}" "{said}</p>
            {guess}
            {merged}
            <h2>{t!(device_figures)}</h2>
            <DeviceFigures figures />
            <BrowserTaxes taxes=browser_taxes />
            <History key=key.clone() />
            <h3>{t!(device_latest)}</h3>
            <p class="note">{t!(device_latest_note)}</p>
            <RunTable rows=recent first=First::Network label=t!(device_latest) own=None />
            <CompareWith own=key.clone() kind=Compared::Devices network=None />
            <div class="row">
                <a class="button quiet" href=format!("/?leaderboard=runs&{DEVICE}={key}#leaderboard")>
                    {t!(device_all_runs)}
                </a>
                <a class="button quiet" href="/#leaderboard">{t!(common_all_devices)}</a>
            </div>
        </section>
    }
}

/// What a browser costs, wherever both kinds of client have a figure of the same kernels.
#[component]
fn BrowserTaxes(taxes: Vec<BrowserTaxOfDevice>) -> impl IntoView {
    let lines = taxes.iter().map(|tax| {
        let suite = network::suite(&tax.suite.name);
        let category = t!(
            device_tax_category,
            suite = t!(network_suite_version, suite = suite, version = tax.suite.version),
            backend = tax.backend,
            precision = tax.precision.name(),
            submitters = standing::tax_submitters(tax)
        );
        view! {
            <li>
                {t!(device_tax_line, workload = text::workload_title(&tax.workload), tax = standing::browser_tax(tax))}
                <span class="explain">{category}</span>
            </li>
        }
    });
    let lines = lines.collect_view();
    (!taxes.is_empty()).then(|| {
        view! {
            <h3>{t!(device_tax_title)}</h3>
            <p class="note">
                {t!(device_tax_note)}
            </p>
            <ul class="plain" data-part="browser-taxes">{lines}</ul>
        }
    })
}
