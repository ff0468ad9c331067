export type ReceiverName = 'hostile' | 'honest' | 'documents';
export type ReceiverPath = '/hang' | '/slow' | '/endless' | '/headers' | '/trickle' | '/accept' | '/events';

/** Addresses of their own: the limits by address must not make the receivers affect each other. */
export const RECEIVER_ADDRESSES: Readonly<Record<ReceiverName, string>> = {
  hostile: '127.0.0.11',
  honest: '127.0.0.12',
  documents: '127.0.0.13',
};

export const receiverUrl = (port: number, receiver: ReceiverName, requested: ReceiverPath) =>
  `https://${RECEIVER_ADDRESSES[receiver]}:${port}${requested}`;

/** Receivers that never answer, each at an address of its own, so that no breaker of one keeps requests from others. */
export const DEAD_ADDRESSES = Array.from({ length: 50 }, (_, nth) => `127.0.2.${nth + 1}`);

export const deadUrl = (port: number, nth: number) =>
  `https://${DEAD_ADDRESSES[nth % DEAD_ADDRESSES.length]}:${port}/hang`;
