import { randomInt } from 'node:crypto';

const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const random = (length: number) => Array.from({ length }, () => BASE_62.charAt(randomInt(BASE_62.length))).join('');

/** 22 characters hold as much as a UUID. */
export const newSubscriptionId = () => `wh_${random(22)}`;

/** 43 characters hold 256 bits. */
export const newSecret = () => `whsec_${random(43)}`;
