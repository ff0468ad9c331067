/** The part of an OpenAPI 3.1 document that our generated descriptions use. */
export interface ApiDescription {
  openapi: string;
  info: {
    title: string;
    version: string;
    description?: string;
    contact?: { name: string };
    license?: { name: string; identifier: string };
  };
  servers?: {
    url: string;
    description?: string;
    variables?: Record<string, { default: string; description?: string }>;
  }[];
  tags?: { name: string; description?: string }[];
  /** How documentation arranges the tags. */
  'x-tagGroups'?: { name: string; tags: string[] }[];
  security?: Record<string, string[]>[];
  paths: Record<string, Record<string, ApiOperation>>;
  /** Requests that the service sends, by event type. */
  webhooks?: Record<string, Record<string, ApiOperation>>;
  components?: {
    schemas?: Record<string, ApiSchema>;
    responses?: Record<string, ApiResponse>;
    headers?: Record<string, ApiHeader>;
    examples?: Record<string, { summary?: string; value: unknown }>;
    parameters?: Record<string, ApiParameter>;
    securitySchemes?: Record<string, unknown>;
  };
}

export interface ApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  security?: Record<string, string[]>[];
  parameters?: ApiParameter[];
  requestBody?: { required?: boolean; content: ApiContent };
  /** Those of errors are references to `components.responses`. */
  responses: Record<string, ApiResponse>;
  [extension: `x-${string}`]: unknown;
}

interface ApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: ApiSchema;
}

export interface ApiResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, ApiHeader | { $ref: string }>;
  content?: ApiContent;
}

type ApiContent = Record<string, { schema: ApiSchema; example?: unknown; examples?: Record<string, { $ref: string }> }>;

export interface ApiHeader {
  description?: string;
  required?: boolean;
  schema: ApiSchema;
}

export interface ApiSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  allOf?: ApiSchema[];
  additionalProperties?: ApiSchema | boolean;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  uniqueItems?: boolean;
  propertyNames?: ApiSchema;
}
