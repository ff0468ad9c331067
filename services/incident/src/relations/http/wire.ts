import { instant, recordedKey } from '@tocsin/schemas';
import { pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { id } from '../../incidents/domain/property-kinds.ts';
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
