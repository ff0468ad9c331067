export { AmqpBroker } from './amqp-broker.ts';
export { confirmPublisher, type Publisher } from './amqp-publisher.ts';
export { brokerTopology, declareTopology } from './amqp-topology.ts';
export { connectionRefusal } from './connection-refusal.ts';
