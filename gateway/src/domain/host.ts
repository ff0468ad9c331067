const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a workspace can have this slug: it is a label of its host name. */
export const isSlug = (text: string): boolean => LABEL.test(text);

/**
 * The workspace that a host names: the one label before the base domain, in any case, with or without a port and the
 * root's dot (contract: Tenancy). `undefined` for every other host, the bare domain and IP addresses included.
 */
export function slugOf(host: string, baseDomain: string): string | undefined {
  const [, name] = /^([^:]+?)\.?(?::\d{0,5})?$/.exec(host.toLowerCase()) ?? [];
  if (name?.endsWith(`.${baseDomain}`) !== true) return undefined;
  const label = name.slice(0, -baseDomain.length - 1);
  return isSlug(label) ? label : undefined;
}
