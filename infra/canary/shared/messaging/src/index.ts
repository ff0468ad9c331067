import '../../http/src/index.ts'; // package-messaging, no-cycle
