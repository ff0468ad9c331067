// Runs before `make start` (`node --import`): starts the SDK for traces if the environment or the file .env says so.
import { environment } from '../installation/environment.ts';

environment();
await import('@tocsin/tracing');
