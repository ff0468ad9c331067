import { randomInt } from 'node:crypto';

const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const random = (length: number) => Array.from({ length }, () => BASE_62.charAt(randomInt(BASE_62.length))).join('');

/** 22 characters have more entropy than a UUID. */
export const newSubscriptionId = () => `wh_${random(22)}`;

/** 43 characters have 256 bits of entropy. */
export const newSecret = () => `whsec_${random(43)}`;
