import { isIP } from 'node:net';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether the text is a valid slug. A slug is a label of the workspace's host name. */
export const isSlug = (text: string): boolean => LABEL.test(text);

export interface HostRules {
  baseDomain: string;
  /** The workspace of hosts that name none: the base domain itself, `localhost` and IP addresses. */
  defaultWorkspace: string | undefined;
}

/** What a client is told of the hosts of workspaces. */
export const shownHost = ({ baseDomain, publicUrl }: { baseDomain: string; publicUrl: string | undefined }): string =>
  (publicUrl ?? `//{workspace}.${baseDomain}`).replace(/^.*\/\//, '').replace('{workspace}', '<workspace>');

/**
 * Returns the slug of the workspace that a host names: the single label before the base domain, in any case, with or
 * without a port and a trailing dot (contract: Tenancy). Returns `undefined` for every other host, except for those of
 * the default workspace.
 */
export function slugOf(host: string, { baseDomain, defaultWorkspace }: HostRules): string | undefined {
  const [, name = ''] = /^([^:]+?)\.?(?::\d{0,5})?$/.exec(host.toLowerCase()) ?? [];
  if (name.endsWith(`.${baseDomain}`)) {
    const label = name.slice(0, -baseDomain.length - 1);
    return isSlug(label) ? label : undefined;
  }
  if (defaultWorkspace === undefined) return undefined;
  const isDefault = name === baseDomain || name === 'localhost' || isIP(name) === 4 || isBracketedIPv6(host);
  return isDefault ? defaultWorkspace : undefined;
}

function isBracketedIPv6(host: string): boolean {
  const [, address = ''] = /^\[([^\]]+)\](?::\d{0,5})?$/.exec(host) ?? [];
  return isIP(address) === 6;
}
