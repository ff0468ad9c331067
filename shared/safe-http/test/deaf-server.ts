import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Listens with the smallest queue, and then accepts nothing until it is terminated. */
const LISTENER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ ...workerData, backlog: 1 }, () => {
    parentPort.postMessage('listening');
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000));
  });`;

/** An address that answers nothing: connections to it are neither made nor refused. */
export async function startDeafServer(address: { host: string; port: number }): Promise<{ stop(): Promise<void> }> {
  const worker = new Worker(LISTENER, { eval: true, workerData: address });
  await new Promise((resolve) => worker.once('message', resolve));
  const filling: Socket[] = [];
  // Fills the queue; the system drops what comes after that.
  for (let isFull = false; !isFull;) {
    const socket = connect(address);
    filling.push(socket);
    socket.on('error', () => undefined);
    const connected = new Promise<boolean>((resolve) => socket.once('connect', () => resolve(false)));
    isFull = await Promise.race([connected, delay(300).then(() => true)]);
  }
  return {
    stop: async () => {
      for (const socket of filling) socket.destroy();
      await worker.terminate();
    },
  };
}
