/** Whether an address is on this machine, so that nobody else sees what is sent to it. */
export const isLoopback = ({ hostname }: URL): boolean =>
  /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
