import '../../runtime/src/index.ts'; // package-safe-http
