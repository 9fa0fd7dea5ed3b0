// Returns all texts of the page, visible or not, including attributes that screen readers read. Skips elements that are
// marked as English, and code.
() => {
    const found = [];
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    const other = (node) => node?.closest('[lang=en], pre, script, style');
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (node.nodeType === Node.TEXT_NODE) {
            if (!other(node.parentElement)) found.push(node.data);
        } else if (!other(node)) {
            for (const name of ['aria-label', 'title', 'placeholder', 'alt']) found.push(node.getAttribute(name) ?? '');
        }
    }
    return found.map((text) => text.trim()).filter((text) => text !== '');
}
