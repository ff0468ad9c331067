/** Since when an operation is not to be used any more, until when it is there, and what comes after it. */
export interface Deprecation {
  /** RFC 3339. */
  since: string;
  sunset: string;
  /** A path, which may have the operation's own `{parameters}`. */
  successor: string;
}

/** What every answer of a deprecated operation says of that: RFC 9745 and RFC 8594 (contract: Versioning). */
export function deprecationHeaders(
  { since, sunset, successor }: Deprecation,
  parameters: Readonly<Record<string, string>>,
): Record<string, string> {
  const path = successor.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
  return {
    Deprecation: `@${Date.parse(since) / 1_000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: `<${path}>; rel="successor-version"`,
  };
}
