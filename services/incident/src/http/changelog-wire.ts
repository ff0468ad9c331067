import { instant, largeValue } from '@tocsin/contracts';
import { pagination } from '@tocsin/http';
import { z } from 'zod';
import { id } from './wire.ts';

const changedValue = z.union([largeValue.meta({ ...largeValue.meta(), id: 'LargeValue' }), z.unknown()]);

const changelogEntry = z
  .strictObject({
    id,
    incident_id: id,
    revision: id.meta({ description: "The incident's revision after the changes" }),
    actor: z.string(),
    changed_at: instant,
    changes: z.array(z.strictObject({ field: z.string(), from: changedValue, to: changedValue })),
  })
  .meta({ id: 'ChangelogEntry' });

export type ChangelogEntryWire = z.infer<typeof changelogEntry>;

export const changelogPage = z.strictObject({ changelog: z.array(changelogEntry), pagination });
