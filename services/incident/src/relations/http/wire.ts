import { composedText, instant, nameText, recordedKey } from '@tocsin/schemas';
import { pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { id } from '../../incidents/domain/property-kinds.ts';
import { MAX_SIMILAR } from '../domain/similarity.ts';
import { GIVEN_TYPES, RELATION_TYPES } from '../domain/relation.ts';

const relation = z
  .strictObject({
    id: id.meta({ description: 'Identifies the relation, from both of its incidents' }),
    type: z.enum(RELATION_TYPES).meta({
      description: 'What this incident is to the other one; the other one shows `duplicated_by` for `duplicate_of`',
    }),
    incident: z
      .strictObject({
        id: id.meta({ description: 'ID of the other incident' }),
        human_id: z.string().meta({ description: 'Its reference for people' }),
        title: z.string().meta({ description: 'Its title as it is now' }),
        severity: z.string().meta({ description: 'Its severity as it is now' }),
        status: z.string().meta({ description: 'Its status as it is now' }),
      })
      .meta({ description: 'The other incident, archived or not' }),
    created_at: instant.meta({ description: 'When the incidents were related' }),
    created_by: z.string().meta({ description: 'ID, as text, of the user whose API key related them' }),
    created_by_key: recordedKey
      .nullable()
      .meta({ description: 'The API key, or session, that related them for the user; null: not known' }),
  })
  .meta({ id: 'IncidentRelation' });
export type RelationWire = z.infer<typeof relation>;

export const relationReply = z.strictObject({
  relation: schemaReference(relation, 'The relation as this incident sees it'),
});

export const relationPage = z.strictObject({
  relations: z.array(relation).meta({ description: 'The relations of the page, the oldest first' }),
  pagination,
});

export const newRelation = z
  .strictObject({
    type: z.enum(GIVEN_TYPES).meta({ description: 'What this incident is to the other one' }),
    incident_id: id.meta({ description: 'ID of the other incident, which is not archived' }),
  })
  .meta({ id: 'NewIncidentRelation' });

export const similarQuery = z.strictObject({
  title: nameText(255).meta({
    description: 'The title of an incident that does not exist yet; 1 to 255 characters after trimming',
    example: 'Checkout is down in Europe',
  }),
  service: composedText(128)
    .optional()
    .meta({ description: 'Its service: a slug, or another text; default: none is known' }),
});

const similarIncident = z
  .strictObject({
    incident_id: id.meta({ description: 'ID of the incident, which is not archived' }),
    human_id: z.string().meta({ description: 'Its reference for people' }),
    title: z.string().meta({ description: 'Its title' }),
    status: z.string().meta({ description: 'Its status' }),
    severity: z.string().meta({ description: 'Its severity' }),
    service: z.string().meta({ description: 'Its service; empty: none' }),
    created_at: instant.meta({ description: 'When it was created in Tocsin' }),
    score: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'How much of the title it shares, from 0 to 1; less if the services differ' }),
  })
  .meta({ id: 'SimilarIncident' });
export type SimilarIncidentWire = z.infer<typeof similarIncident>;

export const similarReply = z.strictObject({
  similar: z.array(similarIncident).max(MAX_SIMILAR).meta({ description: 'The most similar first' }),
});
