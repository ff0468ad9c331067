import { z } from 'zod';

/** The API key with which something was done. A session is a key, too; the first characters of its token say so. */
export const recordedKey = z.strictObject({
  name: z.string().meta({ description: 'Its name at that time; of a session, the browser, or `Slack`' }),
  prefix: z.string().meta({
    description: 'The first characters of its token: `tcs_` of a key, `tcn_` of a session, `tco_` of an agent',
  }),
});
export type RecordedKey = z.infer<typeof recordedKey>;

export const isSession = ({ prefix }: RecordedKey): boolean => prefix.startsWith('tcn_');

/** What acted, for people: a key, and whose it is, or the person who was signed in. */
export const actorText = (person: string, key: RecordedKey | null): string =>
  key === null || isSession(key) ? person : `${key.name} (key of ${person})`;
