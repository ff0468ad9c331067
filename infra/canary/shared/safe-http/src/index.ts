import '../../runtime/src/index.ts'; // layer-safe-http
