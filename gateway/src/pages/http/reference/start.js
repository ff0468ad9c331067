// Starts Scalar with the API's description. For its options see
// https://scalar.com/products/api-references/configuration
{
  /** The reader's choice whether the token is kept in localStorage; not kept by default. */
  const KEEP = 'tocsin-keep-token';
  const TOKEN = 'scalar-reference-auth-tocsin';

  const LANGUAGES =
    'c clojure csharp dart fsharp go http java js julia kotlin objc ocaml php powershell r ruby rust swift';

  const configurationFor = (content, keepsToken) => ({
    content,
    slug: 'tocsin',
    // The policy allows requests to the page's own origin only.
    servers: [{ url: window.location.origin }],
    authentication: { preferredSecurityScheme: 'token' },
    persistAuth: keepsToken,
    // The page has its own link to the description.
    documentDownloadType: 'none',
    modelsSectionLabel: 'Schemas',
    orderSchemaPropertiesBy: 'preserve',
    showOperationId: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    // Shows samples in curl, TypeScript (the fetch of Node.js) and Python, whose others lack what they import.
    hiddenClients: {
      ...Object.fromEntries(LANGUAGES.split(' ').map((name) => [name, true])),
      shell: ['httpie', 'wget'],
      node: ['axios', 'ofetch', 'undici'],
      python: ['aiohttp', 'httpx_async', 'httpx_sync', 'requests'],
    },
    // Turns off all that would load from other origins or send data to them.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
  });

  /** Scalar sends every parameter that has an example or an enumeration, unless its examples are disabled. */
  function switchOffOptionalParameters(description) {
    const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
    for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
      if (parameter.required === true) continue;
      const { schema = {}, example = schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] } = parameter;
      if (example === undefined && parameter.examples === undefined) continue;
      const examples = Object.entries(parameter.examples ?? { default: { value: example } });
      delete parameter.example;
      parameter.examples = Object.fromEntries(examples.map(([name, each]) => [name, { ...each, 'x-disabled': true }]));
    }
    return description;
  }

  /** Adds the attributes that Scalar lacks, for screen readers and keyboards. */
  function addAriaAttributes() {
    for (const button of document.querySelectorAll('button.scalar-code-copy:not([aria-label])')) {
      button.setAttribute('aria-label', 'Copy');
    }
    // Without a tab stop, nobody can scroll a long example or a wide table by keyboard.
    for (const region of document.querySelectorAll(':is(.custom-scroll, .markdown table):not([tabindex])')) {
      region.tabIndex = 0;
    }
    for (const input of document.querySelectorAll('[role="combobox"]:not([aria-expanded])')) {
      input.setAttribute('aria-expanded', 'false');
    }
    for (const button of document.querySelectorAll('button[role="none"][aria-label]')) button.removeAttribute('role');
    for (const code of document.querySelectorAll('.cm-content:not([aria-label])')) {
      code.setAttribute('aria-label', 'Content');
    }
    for (const button of document.querySelectorAll('[role="dialog"] button:not([aria-label])')) {
      if (button.textContent.trim() === '') button.setAttribute('aria-label', 'Choose a value');
    }
    for (const element of document.querySelectorAll('[role="dialog"] [aria-controls]')) {
      const controlled = document.getElementById(element.getAttribute('aria-controls'));
      if (controlled === null) element.removeAttribute('aria-controls');
    }
  }

  /** Scalar stores the token with a delay; this blocks a write that follows after the reader has unchecked the box. */
  function storeTokenOnlyIf(isAllowed) {
    const { setItem } = Storage.prototype;
    Storage.prototype.setItem = function (key, value) {
      if (key !== TOKEN || isAllowed()) setItem.call(this, key, value);
    };
    if (!isAllowed()) localStorage.removeItem(TOKEN);
  }

  /** Scalar stores the token only when it changes. This stores a token that was entered before the box was checked. */
  function reenterToken() {
    const input = document.querySelector('.scalar-reference-intro-auth input');
    if (input === null || input.value === '') return;
    const token = input.value;
    for (const value of [`${token} `, token]) {
      input.value = value;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }

  async function readDescription() {
    const response = await fetch('/api/v1/openapi.json');
    const body = await response.json();
    if (!response.ok) throw new Error(body.message);
    return switchOffOptionalParameters(body);
  }

  async function start() {
    const checkbox = document.getElementById('keep-token');
    checkbox.checked = localStorage.getItem(KEEP) === 'yes';
    storeTokenOnlyIf(() => checkbox.checked);
    const description = await readDescription();
    const reference = window.Scalar.createApiReference('#reference', configurationFor(description, checkbox.checked));
    new MutationObserver(addAriaAttributes).observe(document.body, { childList: true, subtree: true });
    checkbox.addEventListener('change', () => {
      localStorage.setItem(KEEP, checkbox.checked ? 'yes' : 'no');
      if (!checkbox.checked) localStorage.removeItem(TOKEN);
      reference.updateConfiguration(configurationFor(description, checkbox.checked));
      if (checkbox.checked) setTimeout(reenterToken);
    });
  }

  start().catch((error) => {
    const line = document.createElement('p');
    line.textContent = `The API reference could not be loaded: ${error.message}`;
    document.getElementById('reference').replaceChildren(line);
  });
}
