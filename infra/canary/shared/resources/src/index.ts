import '../../messaging/src/index.ts'; // package-resources
