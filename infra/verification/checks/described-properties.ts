import type { ApiDescription, ApiOperation, ApiSchema } from '../../../gateway/src/description.ts';

/** A property or parameter, with its place in the document. */
export interface DescribedProperty {
  place: string;
  described: boolean;
}

/** Every property of every schema and every parameter, those of webhooks included. */
export function describedProperties(description: ApiDescription): DescribedProperty[] {
  const properties: DescribedProperty[] = [];
  const schemas = description.components?.schemas ?? {};
  for (const [name, schema] of Object.entries(schemas)) addProperties(properties, name, schema);
  for (const [path, methods] of Object.entries({ ...description.paths, ...description.webhooks })) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId, parameters = [], requestBody } = operation;
      for (const parameter of parameters) {
        properties.push({ place: `${operationId} ${parameter.name}`, described: hasText(parameter.description) });
      }
      const contents = [requestBody?.content, ...responsesOf(operation, description).map(({ content }) => content)];
      for (const content of contents.flatMap((item) => Object.values(item ?? {}))) {
        addProperties(properties, `${operationId} (${method} ${path})`, content.schema);
      }
    }
  }
  return properties;
}

/** The responses of an operation, without references. */
export const responsesOf = ({ responses }: ApiOperation, { components }: ApiDescription) =>
  Object.values(responses).map((response) => {
    const name = response.$ref?.replace('#/components/responses/', '');
    const target = name === undefined ? response : components?.responses?.[name];
    if (target === undefined) throw new Error(`there is no response ${name}`);
    return target;
  });

function addProperties(properties: DescribedProperty[], place: string, schema: ApiSchema): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    properties.push({ place: `${place}.${name}`, described: isDescribed(property) });
    addProperties(properties, `${place}.${name}`, property);
  }
  const { items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema;
  const parts = [items, ...anyOf, ...oneOf, ...allOf, additionalProperties];
  for (const part of parts) if (typeof part === 'object') addProperties(properties, place, part);
}

/** A reference says what its schema describes, but not what the property is, so it needs a text too. */
const isDescribed = ({ description }: ApiSchema) => hasText(description);

const hasText = (text: string | undefined) => text !== undefined && text.trim() !== '';
