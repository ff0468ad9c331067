export { type Certificate, createCertificate } from './certificate.ts';
export { findChromium } from './chromium.ts';
export { type Answer, type Client, httpClient, refusal } from './client.ts';
export { type TestClock, testClock } from './clock.ts';
export { createTestDatabase, dropTestDatabases, type TestDatabase, type TestSchema } from './databases.ts';
export { errorOf } from './error-of.ts';
export { eventually } from './eventually.ts';
export { holdTransaction } from './hold-transaction.ts';
export { openEventStream, type StreamMessage, type StreamReader } from './event-stream.ts';
export { loopbackServer } from './loopback-server.ts';
export { type ServiceUnderTest, serviceHarness, type ServiceHarness } from './service-harness.ts';
export { PGBOUNCER, type PgBouncer, startPgBouncer } from './pgbouncer.ts';
export { asService, asUser, TEST_SECRET_KEYS, testPrincipal, type TestUser } from './principals.ts';
export { findRabbitMq, type OwnRabbitMq, startRabbitMq } from './rabbitmq.ts';
export {
  type Handshake,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from './receiver.ts';
export * as behave from './receiver-behaviours.ts';
export { patchEachProperty, type PatchedProperty } from './patch-each-property.ts';
export { type ReadList, readPages } from './read-pages.ts';
export { removeTopology } from './remove-topology.ts';
export { reservePorts } from './reserve-ports.ts';
export { isSkippedTitle, SERVER_VARIABLES, type TestServers, testServers } from './servers.ts';
export { type FakeSlack, type SlackFailure, type SlackHook, startSlack } from './slack.ts';
export type { SlackMethod } from './slack-methods.ts';
export type { SlackCall } from './slack-server.ts';
export type { SlackChannel, SlackUsergroup } from './slack-state.ts';
export { serve, testApp } from './test-app.ts';
export { type ConnectProxy, startConnectProxy } from './connect-proxy.ts';
export { type TcpProxy, tcpProxy } from './tcp-proxy.ts';
