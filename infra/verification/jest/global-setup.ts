import { findServers } from '../servers/find-servers.ts';

/** Runs once for each project that needs servers. */
export default findServers;
