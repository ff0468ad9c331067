import type { CustomFieldDefinition } from '@tocsin/schemas';
import type { Client, TestUser } from '@tocsin/testing';
import type { TestService } from './service.ts';
import { aField } from './snapshots.ts';

export interface Workspace {
  id: number;
  client: Client;
  /** A client of another user. */
  as(userId: number): Client;
  /** Defines a field as its owner does; default: a string. */
  define(field: Partial<CustomFieldDefinition>): Promise<CustomFieldDefinition>;
  /** Changes a definition as its owner does. */
  redefine(id: number, change: Partial<CustomFieldDefinition>): Promise<void>;
  /** Creates an incident with these values by slug, and returns its path. */
  declare(values?: Record<string, unknown>): Promise<string>;
}

let workspaces = 1_000;
let definitions = 0;

/** A new workspace. */
export function freshWorkspace(service: TestService): Workspace {
  const id = (workspaces += 1);
  const fields: CustomFieldDefinition[] = [];
  const user = (more: TestUser = {}) => service.as({ workspace: { id }, ...more });
  const client = user();
  return {
    id,
    client,
    as: (userId) => user({ user_id: userId }),
    async define(field) {
      const definition = aField((definitions += 1), field);
      fields.push(definition);
      await service.owners.change(id, (data) => void data.fields.push(definition));
      return definition;
    },
    async redefine(fieldId, change) {
      await service.owners.change(id, (data) => {
        data.fields = data.fields.map((field) => (field.id === fieldId ? { ...field, ...change } : field));
      });
    },
    async declare(values = {}) {
      const custom_field_values = Object.entries(values).map(([slug, value]) => ({
        field_id: fields.find((field) => field.slug === slug)?.id,
        value,
      }));
      const { status, body } = await client.post('/api/v1/incidents', { title: 'x', custom_field_values });
      if (status !== 201) throw new Error(`not declared: ${JSON.stringify(body)}`);
      return `/api/v1/incidents/${body.incident.id}`;
    },
  };
}
