export { type AnyRequest, BasicTocsin } from './basic-client.ts';
export { Tocsin } from './client.ts';
export * from './error-classes.ts';
export { ConnectionError, TocsinError, UnexpectedResponseError, WebhookSignatureError } from './errors.ts';
export type { ExportLine, ExportOptions } from './export-lines.ts';
export type { FollowedEvent, FollowOptions } from './follow-events.ts';
export type * from './generated/api.ts';
export { type OperationEntry, OPERATIONS } from './operation-table.ts';
export type {
  CallOptions,
  KeyedOptions,
  RevisionOptions,
  TocsinOptions,
  UpdateOptions,
  WriteOptions,
} from './options.ts';
export { Pages } from './pages.ts';
export type { ApiResponse, Query, QueryValue } from './request.ts';
export { signWebhook, type VerifyOptions, verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.ts';
