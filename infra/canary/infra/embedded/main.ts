import '../../services/alpha/src/store/things.ts'; // infra-by-the-front-door
