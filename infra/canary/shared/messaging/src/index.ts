import '../../http/src/index.ts'; // layer-messaging, no-cycle
