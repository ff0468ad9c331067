/** `<…>` of a text of Slack, with what is shown in its place. */
const REFERENCE = /<([^<>|]*)(?:\|([^<>]*))?>/g;

/**
 * Returns a text as it was written: Slack puts addresses, people, channels and commands into angle brackets, and escapes
 * three characters. Of a person or channel without a name, the ID stays.
 */
export const plainText = (text: string): string =>
  text
    .replaceAll(REFERENCE, (_, target: string, shown: string | undefined) => written(target, shown))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

function written(target: string, shown: string | undefined): string {
  const [mark = ''] = target;
  if (mark === '@' || mark === '#')
    return shown === undefined || shown === '' ? target : `${mark}${shown.replace(/^[@#]/, '')}`;
  // `<!here>`, `<!subteam^S1|@team>`, `<!date^1|today>`
  if (mark === '!') return shown ?? `@${target.slice(1)}`;
  if (shown === undefined || target === shown) return target;
  // Slack completes an address that somebody writes without its scheme.
  return target.replace(/^(?:https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '') === shown
    ? shown
    : `${shown} (${target})`;
}

/** The first person whom a text of Slack names; undefined: none. */
export const namedPerson = (text: string): string | undefined => /<@([A-Z0-9]{1,64})(?:\|[^<>]*)?>/.exec(text)?.[1];
