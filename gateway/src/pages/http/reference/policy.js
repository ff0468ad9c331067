// Runs before Scalar and adapts it to the page's Content-Security-Policy, which allows style elements only with the
// nonce, no style attributes, and no code from strings. The policy still blocks injected markup, which does not pass
// through these functions.
{
  const { nonce } = document.currentScript;

  // Scalar and its libraries create style elements; only one of them sets the nonce.
  const { createElement } = Document.prototype;
  Document.prototype.createElement = function (name, options) {
    const element = createElement.call(this, name, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  };

  // The policy blocks the style attribute, but not the same declarations set through the object model.
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    if (String(name).toLowerCase() === 'style' && this.style) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };

  // The markup of highlighted code has a style attribute for line numbers, which the page does not show.
  const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML');
  Object.defineProperty(Element.prototype, 'innerHTML', {
    ...innerHTML,
    set(markup) {
      innerHTML.set.call(this, String(markup).replace(/ style="--line-count: \d+; --line-digits: \d+;"/g, ''));
    },
  });

  // Without this, zod tries to compile its checks from strings.
  globalThis.__zod_globalConfig = { jitless: true };
}
