//! What decides how fast a framework is, beside its figures.

/// Lists each contender once with settings of Burn's: compiler, fusion, autotune and threads.
pub(crate) fn burn_lines<'a>(contenders: impl IntoIterator<Item = (String, &'a [String])>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in contenders.into_iter().filter_map(|(contender, settings)| burn_line(&contender, settings)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn burn_line(contender: &str, settings: &[String]) -> Option<String> {
    let value_of = |what: &str| settings.iter().find_map(|setting| setting.strip_prefix(what)?.strip_prefix(": "));
    let compiler = value_of("burn compiler")?;
    let fusion = value_of("burn fusion").map(|state| format!("fusion {state}"));
    let autotune = value_of("burn autotune").map(|state| format!("autotune {state}"));
    let threads = value_of("threads").map(|count| format!("threads {count}"));
    let facts = [Some(compiler.to_owned()), fusion, autotune, threads].into_iter().flatten();
    Some(format!("{contender}: {}", facts.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(compiler: &str, state: &str) -> Vec<String> {
        ["burn: 0.22.1".to_owned(), format!("burn compiler: {compiler}")]
            .into_iter()
            .chain(["fusion", "autotune"].map(|what| format!("burn {what}: {state}")))
            .collect()
    }

    #[test]
    fn compiler_fusion_and_autotune_are_listed_once_for_each_contender() {
        let (plain, tuned) = (settings("WGSL", "off"), settings("SPIR-V", "on"));
        let mut processor = settings("rustc", "off");
        processor.push("threads: 2".to_owned());
        let ours = vec!["dense_forward: subgroups".to_owned()];
        let contenders = [
            ("wgsl", &ours),
            ("burn-wgpu", &plain),
            ("burn-vulkan", &tuned),
            ("burn-flex", &processor),
            ("burn-wgpu", &plain),
        ];
        let lines = burn_lines(contenders.map(|(name, settings)| (name.to_owned(), settings.as_slice())));
        let expected = [
            "burn-wgpu: WGSL, fusion off, autotune off",
            "burn-vulkan: SPIR-V, fusion on, autotune on",
            "burn-flex: rustc, fusion off, autotune off, threads 2",
        ];
        assert_eq!(lines, expected);
    }
}
