// Runs axe-core, and returns its version and the violations that it finds.
async () => {
    // Let theme transitions finish, because their colors do not count.
    const ends = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime);
    const animations = document.getAnimations().filter(ends);
    await Promise.all(animations.map((animation) => animation.finished.catch(() => {})));
    // All default rules, including best practices, and the target size (WCAG 2.2, 2.5.8), which is off by default.
    const options = { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } };
    const found = await window.axe.run(document, options);
    const describe = (node) => `${node.target.join(' ')}: ${node.failureSummary.replace(/\s+/g, ' ')}`;
    return {
        engine: found.testEngine.version,
        violations: found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${describe(node)}`)),
    };
}
