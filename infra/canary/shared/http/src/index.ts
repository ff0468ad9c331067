import '../../messaging/src/index.ts'; // package-http
