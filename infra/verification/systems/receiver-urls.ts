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
