import { z } from 'zod';

/**
 * A schema with an ID, as a property that has a description of its own: the API description has `$ref` and `description`.
 * `meta` on the schema itself would make it a copy without the ID.
 */
export const schemaReference = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  z.lazy(() => schema).meta({ description });
