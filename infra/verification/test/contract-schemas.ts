import { z } from 'zod';
import type { Contract } from '@tocsin/http';
import { APP_NAMES, APPS } from '../../installation/apps.ts';

/** What a request of one operation contains: its path parameters, its query or its body. */
export interface RequestSchema {
  operation: string;
  part: 'params' | 'query' | 'body';
  schema: z.ZodObject;
}

/** A schema within a request schema, with its dotted path; `*` for the items of an array and the values of a record. */
export interface SchemaNode {
  path: string;
  schema: z.ZodType;
}

const modules = await Promise.all(
  APP_NAMES.map(
    async (name) =>
      import(`../../../${APPS[name].folder}/src/http/contracts.ts`) as Promise<{ contracts: Record<string, Contract> }>,
  ),
);

/** All operations of the API, by their IDs. */
export const CONTRACTS: Readonly<Record<string, Contract>> = Object.assign(
  {},
  ...modules.map(({ contracts }) => contracts),
) as Record<string, Contract>;

/** Other systems make these bodies: what is not known is ignored, and what is known is read and shortened afterwards. */
export const OF_OTHERS = [
  ...['sendAlertmanagerAlerts', 'sendPagerDutyAlert', 'sendSentryAlert', 'sendAzureAlert', 'enqueuePagerDutyEvent'],
];

/** The schemas of everything that the services' APIs accept. */
export const REQUEST_SCHEMAS: readonly RequestSchema[] = Object.entries(CONTRACTS).flatMap(([operation, contract]) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = contract[part];
    return schema === undefined ? [] : { operation, part, schema };
  }),
);

/** Returns a schema and all schemas within it. @throws for a kind of schema that it does not know */
export function nodesOf(schema: z.ZodType, path = ''): SchemaNode[] {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  return [
    { path, schema },
    ...childrenOf(schema).flatMap(({ name, child }) => nodesOf(child, name === '' ? path : at(name))),
  ];
}

interface Child {
  /** Empty if the child is about the same value. */
  name: string;
  child: z.ZodType;
}

const LEAVES = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral, z.ZodNull, z.ZodUnknown];

function childrenOf(schema: z.ZodType): Child[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodNonOptional) {
    return [{ name: '', child: schema.unwrap() as z.ZodType }];
  }
  if (schema instanceof z.ZodLazy) return [{ name: '', child: schema.def.getter() as z.ZodType }];
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, child]) => ({ name, child }));
  }
  if (schema instanceof z.ZodArray) return [{ name: '*', child: schema.element as z.ZodType }];
  if (schema instanceof z.ZodRecord) return [{ name: '*', child: schema.valueType as z.ZodType }];
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).map((child) => ({ name: '', child }));
  if (LEAVES.some((leaf) => schema instanceof leaf)) return [];
  throw new Error(`a request schema has a ${schema.def.type}, whose size no test checks`);
}
