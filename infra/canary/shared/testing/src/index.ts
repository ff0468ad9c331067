import '../../../services/alpha/src/config.ts'; // package-testing
