import { ownProperty } from '@tocsin/runtime';

/** When an operation was deprecated, when it is removed, and its successor. */
export interface Deprecation {
  /** RFC 3339. */
  since: string;
  sunset: string;
  /** A path; may contain the operation's own `{parameters}`. */
  successor: string;
}

/** The headers of every response of a deprecated operation: RFC 9745 and RFC 8594 (contract: Versioning). */
export function deprecationHeaders(
  { since, sunset, successor }: Deprecation,
  parameters: Readonly<Record<string, string>>,
): Record<string, string> {
  const path = successor.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ownProperty(parameters, name) ?? ''),
  );
  return {
    Deprecation: `@${Date.parse(since) / 1_000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: `<${path}>; rel="successor-version"`,
  };
}
