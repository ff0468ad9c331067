// Shows the address of the workspace in examples. Without scripts, the address of the documents stays.
for (const example of document.querySelectorAll('pre')) {
  example.textContent = example.textContent.replaceAll(
    /(https?:\/\/([^\s/]+@)?)?acme\.(?:tocsin\.example\.com|localhost:8080)/g,
    (_, scheme, user = '') => (scheme === undefined ? '' : `${location.protocol}//${user}`) + location.host,
  );
}
