export { fold } from '@tocsin/contracts';
