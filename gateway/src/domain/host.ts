const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether the text is a valid slug. A slug is a label of the workspace's host name. */
export const isSlug = (text: string): boolean => LABEL.test(text);

/**
 * Returns the slug of the workspace that a host names: the single label before the base domain, in any case, with or
 * without a port and a trailing dot (contract: Tenancy). Returns `undefined` for every other host, including the base
 * domain itself and IP addresses.
 */
export function slugOf(host: string, baseDomain: string): string | undefined {
  const [, name] = /^([^:]+?)\.?(?::\d{0,5})?$/.exec(host.toLowerCase()) ?? [];
  if (name?.endsWith(`.${baseDomain}`) !== true) return undefined;
  const label = name.slice(0, -baseDomain.length - 1);
  return isSlug(label) ? label : undefined;
}
