/** The part of an OpenAPI 3.1 document that our generated descriptions use. */
export interface ApiDescription {
  openapi: string;
  info: { title: string; version: string; description?: string };
  servers?: {
    url: string;
    description?: string;
    variables?: Record<string, { default: string; description?: string }>;
  }[];
  tags?: { name: string }[];
  security?: Record<string, string[]>[];
  paths: Record<string, Record<string, ApiOperation>>;
  components?: {
    schemas?: Record<string, ApiSchema>;
    headers?: Record<string, ApiHeader>;
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
  responses: Record<string, ApiResponse>;
  [extension: `x-${string}`]: unknown;
}

export interface ApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: ApiSchema;
}

export interface ApiResponse {
  description: string;
  headers?: Record<string, ApiHeader | { $ref: string }>;
  content?: ApiContent;
}

export type ApiContent = Record<string, { schema: ApiSchema }>;

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
  uniqueItems?: boolean;
}
