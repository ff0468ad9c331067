import { z } from 'zod';

const WORKSPACE = '{workspace}';
const STAND_IN = 'workspace';

/**
 * Reads where people reach an installation: `https://{workspace}.tocsin.example.com`, or without `{workspace}` if it has
 * one workspace. Returns it as browsers write an origin.
 */
export const publicUrl = z.string().transform((value, context) => {
  const [, scheme = '', label = '', host = ''] =
    /^(https?:\/\/)(\{workspace\}\.)?([^\s{}@/\\?#]+)\/?$/i.exec(value) ?? [];
  const url = URL.parse(scheme + label.replace(WORKSPACE, STAND_IN) + host);
  if (url !== null) return label === '' ? url.origin : url.origin.replace(STAND_IN, WORKSPACE);
  context.addIssue(
    'must be http:// or https:// and a host, with nothing behind it: https://{workspace}.tocsin.example.com or, for one ' +
      'workspace, https://tocsin.example.com',
  );
  return z.NEVER;
});

/** The address of a workspace. */
export const workspaceUrl = (url: string, slug: string): string => url.replace(WORKSPACE, slug);
